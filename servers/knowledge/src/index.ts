/** A folder of Markdown as an MCP server. */

export type { App } from './app.ts'
export { createApp } from './app.ts'
export type { Article, Reference, Status } from './article.ts'
export { flatInfo, knowledge } from './definition.ts'
export { handleMethod } from './handle-method.ts'
export type { Index } from './index-file.ts'
export { fromIndex } from './index-file.ts'
export { open } from './open.ts'
