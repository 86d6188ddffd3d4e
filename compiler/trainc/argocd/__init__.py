"""trainc as a config management plugin of Argo CD, run in the folder of an application.

`environment` reads the variables that Argo CD sets, `parameters` the values that the Application gives, `files` lists
the files, `discovery` looks for TrainJobs, and `generate` returns the output of `generate`. The package runs no
program, opens no socket and reads nothing outside the repository. Only `trainc cmp` loads it.
Source   the plugin server of Argo CD 3.2.1: its requests, and how it treats the output, as observed.
"""
