"""Surfaces: where people and programs meet Chapterverse."""
