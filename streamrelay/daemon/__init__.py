"""The service as a process of its own, asked over HTTP on a unix socket."""
