"""`python -m trainc`."""

from trainc.cli import entry

if __name__ == "__main__":
    entry()
