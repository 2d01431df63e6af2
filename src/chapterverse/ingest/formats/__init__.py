"""Readers of formats. Each module offers `parse(data, composer, options)`, which tells the composer what it sees."""
