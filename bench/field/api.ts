/** The API of the shop, as a process of the benchmark: `/products/search`, `/products/{id}` and `/cart/calculate`. */
import { createServer, type IncomingMessage } from 'node:http'
import { listen } from '../contenders/served.ts'
import { createCatalog, type Item } from './catalog.ts'

const catalog = createCatalog()

function get(url: string): unknown {
  const [path = '', query] = url.split('?', 2)
  if (path !== '/products/search') return catalog.get(Number(path.slice('/products/'.length)))
  const params = new URLSearchParams(query)
  const number = (name: string, other: number): number => Number(params.get(name) ?? other)
  const category = params.get('category') ?? ''
  const found = catalog.search({
    category,
    minPrice: number('min_price', 0),
    maxPrice: number('max_price', Number.POSITIVE_INFINITY),
    limit: number('limit', 10),
  })
  return { category, ...found }
}

async function calculate(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  const { user_id, items } = JSON.parse(Buffer.concat(chunks).toString()) as { user_id: string; items: Item[] }
  const subtotal = catalog.total(items)
  const discount = subtotal >= 100 ? subtotal * 0.1 : 0
  const total = Math.round((subtotal - discount) * 108.5) / 100
  return { order_id: `${user_id}-${items.length}`, user_id, subtotal, discount, total, items_count: items.length }
}

listen(
  createServer((request, response) => {
    const send = (answer: unknown): void => {
      const body = JSON.stringify(answer ?? { error: 'not found' })
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }
      response.writeHead(answer === undefined ? 404 : 200, headers)
      response.end(body)
    }
    if (request.method === 'GET') send(get(request.url ?? ''))
    else calculate(request).then(send, () => response.destroy())
  }),
)
