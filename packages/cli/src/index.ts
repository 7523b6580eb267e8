/** For programs that want the command without a process, and for the configuration's types in `sluice.config.ts`. */

export type { Config } from './config/schema.ts'
export { run } from './program.ts'

import type * as z from 'zod'
import type { configSchema } from './config/schema.ts'

/** `export default defineConfig({ … })`: the same object, with its type. */
export const defineConfig = (config: z.input<typeof configSchema>): z.input<typeof configSchema> => config
