/**
 * The figures of the published comparison of languages (tmdevlab.com, "MCP Server Performance Benchmark v2"): 50 users,
 * these three tools, two cores for the server, requests per second. Its Node server has the official SDK v1.
 */
export const published: Record<string, number> = {
  Rust: 4_845,
  'Quarkus (Java)': 4_739,
  Go: 3_616,
  'Bun, SDK v1': 876,
  'Node, SDK v1': 423,
  Python: 259,
}

export const publishedNode = 423
