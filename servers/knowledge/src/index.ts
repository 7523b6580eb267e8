/** The public API: a folder of Markdown as an MCP server. */

export type { Article, Reference, Status } from './article.ts'
export { flatInfo, knowledge } from './definition.ts'
export { handleMethod } from './handle-method.ts'
export type { Index } from './index-file.ts'
export { fromIndex } from './index-file.ts'
export type { KnowledgeBase } from './knowledge-base.ts'
export { createKnowledgeBase } from './knowledge-base.ts'
export { open } from './open.ts'
