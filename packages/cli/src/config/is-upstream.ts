import type { ServerSettings } from './schema.ts'

/** Whether the server is a command or a URL, and not a module or built in. */
export const isUpstream = ({ command, url }: ServerSettings): boolean => command !== undefined || url !== undefined
