/** What a user deploys: the documents of Sluice itself. */

import { serve } from '@sluice/knowledge/edge'
import index from '../../servers/knowledge/dist/sluice.json' with { type: 'json' }

export default { fetch: serve(index) }
