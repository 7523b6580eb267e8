/** The gateway as an operator on the internet runs it: the full stack of `contenders/sluice-full` around an upstream. */
import { gateway, upstream } from 'sluice/gateway-node'
import { serveFull } from '../contenders/sluice-full/serve.ts'
import { upstreamTarget } from './upstream-target.ts'

const one = upstream({ name: 'bench', ...upstreamTarget(), rules: [{ scopes: ['echo'] }] })
const { endpoints } = gateway({ name: 'bench', version: '1.0.0', upstreams: [one] })
await serveFull({ definition: endpoints['bench'] ?? { name: 'none', version: '1' } })
