/** Averages for statistics, each tenant's from its own calls: another's would tell how busy that one is. */

export interface Averages {
  add(tenant: string, value: number): void
  average(tenant: string): number | undefined
}

const maxValues = 100
const maxTenants = 1000

/** Over the latest hundred values of a tenant. Forgets everybody rather than growing without end. */
export function createAverages(): Averages {
  const values = new Map<string, number[]>()
  return {
    add(tenant, value) {
      if (!values.has(tenant) && values.size >= maxTenants) values.clear()
      const own = values.get(tenant) ?? []
      own.push(value)
      if (own.length > maxValues) own.shift()
      values.set(tenant, own)
    },
    average(tenant) {
      const own = values.get(tenant)
      return own && own.reduce((sum, value) => sum + value, 0) / own.length
    },
  }
}
