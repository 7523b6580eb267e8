/**
 * Averages for statistics. Each tenant's come from its own calls, because shared ones would tell how busy another
 * tenant is.
 */

export interface Averages {
  add(tenant: string, value: number): void
  average(tenant: string): number | undefined
}

const maxValues = 100
const maxTenants = 1000

/** Averages over the latest hundred values of a tenant. Drops all tenants instead of growing without bound. */
export function createAverages(): Averages {
  const values = new Map<string, number[]>()
  return {
    add(tenant, value) {
      if (!values.has(tenant) && values.size >= maxTenants) values.clear()
      const samples = values.get(tenant) ?? []
      samples.push(value)
      if (samples.length > maxValues) samples.shift()
      values.set(tenant, samples)
    },
    average(tenant) {
      const samples = values.get(tenant)
      return samples && samples.reduce((sum, value) => sum + value, 0) / samples.length
    },
  }
}
