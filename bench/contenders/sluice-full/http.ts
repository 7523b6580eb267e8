/** The full stack in memory. */
import { serveFull } from './serve.ts'

await serveFull()
