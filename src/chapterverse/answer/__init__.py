"""Answer: a question becomes an answer that quotes the book, or a refusal."""
