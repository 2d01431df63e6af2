"""The MCP server: books as tools and resources of an assistant. Its SDK takes seconds to import: only `mcp` pays."""
