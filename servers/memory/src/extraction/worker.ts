/** The thread that finds entities and relations in one text, and then ends. */

import { parentPort, workerData } from 'node:worker_threads'
import { extract } from './extract.ts'

parentPort?.postMessage(extract(String(workerData)))
