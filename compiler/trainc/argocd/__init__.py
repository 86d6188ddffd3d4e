"""trainc as a config management plugin of Argo CD: what its plugin server asks for, answered where an application is.

`environment` reads the variables that Argo CD sets, `parameters` what the Application says with them, `files` says
which files there are, `discovery` looks for TrainJobs, `manifests` makes the answer of `generate`. Nothing here runs a
program, opens a socket, or reads outside the repository; `trainc cmp` alone loads it. What Argo CD sends, and what it
makes of an answer, was observed with the plugin server of Argo CD 3.2.1.
"""
