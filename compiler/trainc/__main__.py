"""`python -m trainc`."""

from trainc.cli import main

if __name__ == "__main__":
    main()
