"""The calls of the service, each declared where it is implemented (`streamrelay.service.call`)."""
