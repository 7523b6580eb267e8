/** The README of a new project: how to run it, how to add it to a client, and how to deploy it. */

import { join } from 'node:path'
import type { Template } from './create.ts'

export function readmeOf(name: string, template: Template, folder: string): string {
  return `# ${name}

An MCP server on [Sluice](https://www.npmjs.com/package/sluice). The tools are in \`server.ts\`.

\`\`\`sh
npm install
npm test         # calls the tools as clients of three revisions do
npm run check    # types
npm start        # ${urlOf(name, template)}
\`\`\`

Add it to a client:

\`\`\`json
${template === 'node' ? stdioEntry(name, folder) : httpEntry(name, template)}
\`\`\`

## Deployment

${deployment[template](name)}
`
}

const urlOf = (name: string, template: Template): string =>
  `http://127.0.0.1:${template === 'node' ? 3000 : 8080}/${name}/mcp`

/** Uses the absolute path, because a client starts the server from any working folder. */
const stdioEntry = (name: string, folder: string): string =>
  `{ "mcpServers": { "${name}": { "command": "node", "args": ${JSON.stringify([join(folder, 'main.ts'), '--stdio'])} } } }`

const httpEntry = (name: string, template: Template): string =>
  `{ "mcpServers": { "${name}": { "type": "http", "url": "${urlOf(name, template)}" } } }`

const deployment: { readonly [template in Template]: (name: string) => string } = {
  node: (name) => `\`${name}.service\` is a unit for systemd:

1. Copy the project to \`/srv/${name}\` and run \`npm ci --omit=dev\` there.
2. In \`${name}.service\`, set \`HOSTS\` to the host name that clients use.
3. Copy the unit to \`/etc/systemd/system\` and run \`systemctl enable --now ${name}\`.
4. Put a proxy with TLS in front of port 3000.

Everyone who reaches the address may call the tools. Add \`authenticate\` of \`sluice\` before you publish it. For several machines, add a load balancer and Redis.`,
  workerd: (
    name,
  ) => `\`npm run build\` makes one file, \`dist/worker.js\`, and \`npx workerd serve workerd.capnp\` runs it. On Cloudflare:

1. In \`worker.ts\`, replace \`${name}.example.workers.dev\` by the host name that clients use.
2. Run \`npx wrangler login\`, once.
3. Run \`npx wrangler deploy\`. It reads \`wrangler.jsonc\` and prints the address.
4. Try it: \`npx @sluice/cli call https://${name}.example.workers.dev/${name}/mcp\`.

Everyone who reaches the address may call the tools. Add \`authenticate\` of \`sluice\` before you publish it.`,
}
