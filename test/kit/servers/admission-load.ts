/** What admission control shows of its load in its gauges. */

import type { AdmissionControl } from '../../../packages/sluice/src/transports/http/admission.ts'

export interface AdmissionLoad {
  readonly running: number
  readonly waiting: number
  readonly shed: number
}

/** Returns -1 for each gauge that does not exist, as before the control is created. */
export function loadOf(control: AdmissionControl | undefined): AdmissionLoad {
  const read = (name: string): number => control?.gauges.find((gauge) => gauge.name === name)?.read() ?? -1
  return {
    running: read('sluice_gate_running'),
    waiting: read('sluice_gate_waiting'),
    shed: read('sluice_gate_shed_total'),
  }
}
