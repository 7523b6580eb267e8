/** Installs plugins: at most one per slot, the log and the audit first, because the others log and record. */

import type { Contribution, Contributions, Gauge, Plugin, Services, Slot, SlotPlugin } from './core/plugin.ts'
import type { ServicesOptions } from './services.ts'
import { createServices } from './services.ts'

/** A plugin, or a falsy value, so that a list can say `config.limits && rateLimit(config.limits)`. */
export type PluginList = readonly (Plugin | false | null | undefined)[]

export interface Installed {
  readonly services: Services
  /** What the plugin in each slot contributed. */
  readonly slots: { readonly [S in Exclude<Slot, 'custom'>]?: Contributions[S] }
  /** What plugins in the slot `custom` contributed, in the order of the list. */
  readonly custom: readonly Contribution[]
  /** All contributions. The audit comes first, so that a log line can name its record. */
  readonly all: readonly Contribution[]
}

export function install(use: PluginList, options: ServicesOptions): Installed {
  const { custom, ...plugins } = bySlot(use)
  const gauges: Gauge[] = []
  const log = plugins.log?.create(createServices({ ...options, gauges }))
  const logged = createServices({ ...options, gauges, logger: log?.logger })
  const audit = plugins.audit?.create(logged)
  const services: Services = audit ? { ...logged, audit: audit.audit } : logged
  const { log: _, audit: _1, ...rest } = plugins
  const others = Object.values(rest).map((plugin) => [plugin.slot, plugin.create(services)] as const)
  const slots = { ...(audit && { audit }), ...(log && { log }), ...Object.fromEntries(others) }
  const layers = custom.map((plugin) => plugin.create(services))
  return { services, slots, custom: layers, all: [...Object.values<Contribution>(slots), ...layers] }
}

type BySlot = { readonly [S in Exclude<Slot, 'custom'>]?: SlotPlugin<S> }

/** Throws if a slot is taken twice: a second `authenticate` must never be dropped silently. */
function bySlot(use: PluginList): BySlot & { readonly custom: readonly SlotPlugin<'custom'>[] } {
  const custom: SlotPlugin<'custom'>[] = []
  const found: { [slot: string]: Plugin } = {}
  for (const plugin of use) {
    if (!plugin) continue
    if (typeof plugin.create !== 'function')
      throw new TypeError('An entry of "use" is not a plugin: call its function, such as rateLimit()')
    if (plugin.slot === 'custom') {
      custom.push(plugin)
      continue
    }
    const earlier = found[plugin.slot]
    if (earlier && !earlier.isDefault && !plugin.isDefault)
      throw new TypeError(`"use" has two plugins for "${plugin.slot}": remove one of them`)
    if (!earlier || earlier.isDefault) found[plugin.slot] = plugin
  }
  for (const { slot, needs } of Object.values(found))
    if (needs && !found[needs]) throw new TypeError(`"${slot}" needs "${needs}": add it to "use"`)
  // Each plugin was stored under its own slot, which the compiler cannot see.
  return { ...(found as BySlot), custom }
}
