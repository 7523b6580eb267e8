/** The full stack with audit, in memory. */
import { audit } from 'sluice'
import { serveFull } from '../sluice-full/serve.ts'

await serveFull({ plugins: [audit()] })
