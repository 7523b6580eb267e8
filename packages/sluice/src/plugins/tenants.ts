/** The plugin `tenants`: for which tenant a caller works. */

import type { SlotPlugin } from '../core/plugin.ts'
import type { TenantsOptions } from '../layers/tenants.ts'
import { tenantsLayer } from '../layers/tenants.ts'

/** Finds the tenant of each call in the caller's verified claims. Without it there is one tenant. */
export const tenants = (options: TenantsOptions): SlotPlugin<'tenants'> => ({
  slot: 'tenants',
  // Without it no caller has verified claims to take a tenant from.
  needs: 'authenticate',
  create: (services) => ({ layer: tenantsLayer(options, services.tenants), toolsOf: options.tools }),
})
