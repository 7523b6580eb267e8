/** What a developer needs to define and run a server, on any runtime. Transports and further plugins have their own entries. */

export * as ask from './protocol/ask.ts'
export * from './root.ts'
