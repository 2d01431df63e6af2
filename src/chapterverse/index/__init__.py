"""The index: chunks, their vectors and their documents in Qdrant, in the process or on a server."""
