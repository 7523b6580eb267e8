/** Runs the command from another program, and exports the types for `sluice.config.ts`. */

export type { Config } from './config/schema.ts'
export { run } from './program.ts'

import type * as z from 'zod'
import type { configSchema } from './config/schema.ts'

/** Returns its argument with its type: `export default defineConfig({ … })`. */
export const defineConfig = (config: z.input<typeof configSchema>): z.input<typeof configSchema> => config
