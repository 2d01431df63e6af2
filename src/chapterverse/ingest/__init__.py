"""Ingest: any book or folder becomes exact, citable text. Source → document → chunks."""
