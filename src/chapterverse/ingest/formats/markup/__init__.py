"""Markup to passages, shared by HTML and EPUB."""
