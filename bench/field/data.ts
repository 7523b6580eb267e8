/** The data of the shop in Redis: a cart and a history per user, and how often each product was bought. */
import { createClient } from 'redis'

export const users = 50
export const popularKey = 'shop:popular'
export const cartKey = (user: string): string => `shop:cart:${user}`
export const historyKey = (user: string): string => `shop:history:${user}`
export const orderCountKey = (user: string): string => `shop:orders:${user}`
export const userName = (index: number): string => `user-${String(index % users).padStart(5, '0')}`

const historySize = 5

export async function seed(url: string): Promise<void> {
  const redis = await createClient({ url }).connect()
  try {
    await redis.flushAll()
    for (let index = 0; index < users; index++) {
      const user = userName(index)
      const items = [{ product_id: 1 + index * 17, quantity: 1 + (index % 3) }]
      await redis.hSet(cartKey(user), { items: JSON.stringify(items), total: '19.99' })
      for (let order = 0; order < historySize; order++)
        await redis.rPush(historyKey(user), JSON.stringify({ order_id: `old-${order}`, items }))
    }
    for (let id = 1; id <= 1_000; id++) await redis.zAdd(popularKey, { score: id % 97, value: String(id) })
  } finally {
    redis.destroy()
  }
}
