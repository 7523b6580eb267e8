/** Clients that disconnect while they are queued for admission, by FIN and by RST: afterwards all slots are free. */

import { defineServer, tool } from 'sluice'
import { admission, serveHttp } from 'sluice/node'
import { log } from 'sluice/plugins'
import type {
  AdmissionControl,
  CreateAdmissionControl,
} from '../../../packages/sluice/src/transports/http/admission.ts'
import { connectFrom, toolCallText } from '../../kit/clients/connection-churn.client.ts'
import type { AdmissionLoad } from '../../kit/servers/admission-load.ts'
import { loadOf } from '../../kit/servers/admission-load.ts'
import type { Soak } from '../soak.ts'

const slots = 4
const atOnce = 50

export const run: Soak = async ({ times, random }) => {
  const count = times(10_000)
  const work = tool({
    name: 'work',
    description: 'Takes a moment',
    run: () => new Promise<string>((resolve) => setTimeout(resolve, 100, 'done')),
  })
  const definition = defineServer({ name: 'gate', version: '1', tools: [work] })
  const silent = { info() {}, warn() {}, error() {} }
  let made: AdmissionControl | undefined
  const watched: CreateAdmissionControl = (around) => {
    made = admission({ concurrency: slots, queue: atOnce })(around)
    return made
  }
  const serving = await serveHttp(definition, { port: 0, admission: watched, use: [log(silent)] })
  const port = Number(new URL(serving.url).port)
  const load = (): AdmissionLoad => loadOf(made)
  let [queued, served] = [0, 0]
  let turn = 0
  async function client(): Promise<void> {
    while (turn < count) {
      const own = turn++
      const socket = await connectFrom(port, own)
      socket.write(toolCallText(port, 'work'))
      // Some disconnect while they wait, some just after admission, some when they are answered.
      await new Promise((resolve) => setTimeout(resolve, random() * 12))
      queued = Math.max(queued, load().waiting)
      const closed = new Promise((resolve) => socket.once('close', resolve))
      if (own % 2 === 0) socket.resetAndDestroy()
      else socket.destroy()
      await closed
    }
  }
  /** Waits for its answers, so that the slots are in constant use. */
  async function patient(): Promise<void> {
    const socket = await connectFrom(port, 0)
    while (turn < count) {
      const answered = new Promise((resolve) => socket.once('data', resolve))
      socket.write(toolCallText(port, 'work'))
      await answered
      served++
    }
    socket.destroy()
  }
  await Promise.all([...Array.from({ length: 2 * slots }, patient), ...Array.from({ length: atOnce }, client)])
  for (let tries = 0; tries < 200 && load().running + load().waiting > 0; tries++)
    await new Promise((resolve) => setTimeout(resolve, 20))
  const after = load()
  await serving.close()
  const lost = []
  if (after.running > 0) lost.push(`${after.running} of ${slots} slots are held without a client`)
  if (after.waiting > 0) lost.push(`${after.waiting} are queued without a client`)
  if (queued === 0) lost.push('No client was queued, so the run proves nothing')
  return {
    counted: {
      'gave up': count,
      'calls answered beside them': served,
      'queued at most': queued,
      'slots held afterwards': after.running,
    },
    lost,
  }
}
