/**
 * The three tools of the shop, the same for every contender: each makes HTTP requests and Redis commands in parallel.
 *
 * Each returns text, because not every contender knows structured results.
 */
import { createClient } from 'redis'
import * as z from 'zod'
import type { Item, Product } from './catalog.ts'
import { cartKey, historyKey, orderCountKey, popularKey } from './data.ts'
import { createFetchJson } from './fetch-json.ts'

export interface ShopTool<Shape extends z.ZodRawShape = z.ZodRawShape> {
  readonly name: string
  readonly description: string
  readonly input: z.ZodObject<Shape>
  run(args: z.output<z.ZodObject<Shape>>): Promise<string>
}

const shopTool = <Shape extends z.ZodRawShape>(tool: ShopTool<Shape>): ShopTool => tool as unknown as ShopTool

/** Connects to the services that `FIELD_API` and `FIELD_REDIS` name. */
export async function createTools(): Promise<readonly ShopTool[]> {
  const fetchJson = createFetchJson(process.env['FIELD_API'] ?? '')
  const redis = await createClient({ url: process.env['FIELD_REDIS'] ?? '' }).connect()
  return [
    shopTool({
      name: 'search_products',
      description: 'Searches products by category and price, with their popularity.',
      input: z.object({
        category: z.string(),
        min_price: z.number().default(0),
        max_price: z.number().default(1_000),
        limit: z.number().int().default(10),
      }),
      async run({ category, min_price, max_price, limit }) {
        const query = new URLSearchParams({
          category,
          min_price: String(min_price),
          max_price: String(max_price),
          limit: String(limit),
        })
        const [found, popular] = await Promise.all([
          fetchJson<{ total_found: number; products: Product[] }>(`/products/search?${query}`),
          redis.zRange(popularKey, 0, 9, { REV: true }),
        ])
        const products = found.products.map(({ id, sku, name, price, rating }) => ({
          id,
          sku,
          name,
          price,
          rating,
          popularity_rank: popular.indexOf(String(id)) + 1,
        }))
        return JSON.stringify({ category, total_found: found.total_found, products, popular })
      },
    }),
    shopTool({
      name: 'get_user_cart',
      description: 'Returns the cart of a user and the last orders.',
      input: z.object({ user_id: z.string() }),
      async run({ user_id }) {
        const cart = redis.hGetAll(cartKey(user_id))
        const first = cart.then(({ items = '[]' }) => {
          const parsed = JSON.parse(items) as Item[]
          return fetchJson<Product>(`/products/${parsed[0]?.product_id ?? 1}`)
        })
        const [{ items = '[]', total = '0' }, product, history] = await Promise.all([
          cart,
          first,
          redis.lRange(historyKey(user_id), 0, 4),
        ])
        return JSON.stringify({
          user_id,
          cart: { items: JSON.parse(items) as Item[], first: product.name, estimated_total: Number(total) },
          recent_history: history.map((order) => JSON.parse(order) as unknown),
        })
      },
    }),
    shopTool({
      name: 'checkout',
      description: 'Calculates the total of an order and records it.',
      input: z.object({
        user_id: z.string(),
        items: z.array(z.object({ product_id: z.number().int(), quantity: z.number().int() })),
      }),
      async run({ user_id, items }) {
        const order = JSON.stringify({ items, at: Date.now() })
        const [calculated, [count]] = await Promise.all([
          fetchJson<{ order_id: string; total: number }>('/cart/calculate', { user_id, items }),
          redis
            .multi()
            .incr(orderCountKey(user_id))
            .rPush(historyKey(user_id), order)
            .zAdd(popularKey, { score: items[0]?.quantity ?? 1, value: String(items[0]?.product_id ?? 1) })
            .execAsPipeline(),
        ])
        return JSON.stringify({ ...calculated, user_id, items_count: items.length, orders: count, status: 'confirmed' })
      },
    }),
  ]
}
