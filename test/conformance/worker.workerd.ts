/** The fixture as workerd runs it: there work outlives its request only where `waitUntil` keeps it alive. */

import { waitUntil } from 'cloudflare:workers'
import { toWorker } from './worker.ts'

const worker = toWorker({ waitUntil })

export const Everything = worker.Everything
export default worker.handler
