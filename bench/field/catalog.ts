/** The catalog of the shop: 100 000 products, made from their number, so that every run has the same ones. */

export interface Product {
  readonly id: number
  readonly sku: string
  readonly name: string
  readonly category: string
  readonly price: number
  readonly stock: number
  readonly rating: number
  readonly tags: readonly string[]
  readonly description: string
}

export interface Item {
  readonly product_id: number
  readonly quantity: number
}

const size = 100_000
const categories = ['Electronics', 'Books', 'Clothing', 'Sports', 'Home', 'Garden', 'Toys', 'Food', 'Beauty', 'Music']
const tags = ['sale', 'new', 'featured', 'limited', 'popular']

function productOf(id: number): Product {
  const category = categories[id % categories.length] ?? ''
  return {
    id,
    sku: `SKU-${String(id).padStart(6, '0')}`,
    name: `${category} item ${id}`,
    category,
    price: (100 + ((id * 7_919) % 99_900)) / 100,
    stock: id % 501,
    rating: 1 + (id % 40) / 10,
    tags: [tags[id % 5] ?? '', tags[(id + 2) % 5] ?? ''],
    description: `A product of the category ${category}, with the number ${id}.`,
  }
}

export interface Catalog {
  get(id: number): Product | undefined
  /** Returns the cheapest `limit` products of the category within the prices, and the number of all such products. */
  search(query: Query): { readonly total_found: number; readonly products: readonly Product[] }
  total(items: readonly Item[]): number
}

export interface Query {
  readonly category: string
  readonly minPrice: number
  readonly maxPrice: number
  readonly limit: number
}

export function createCatalog(): Catalog {
  const products = Array.from({ length: size }, (_, index) => productOf(index + 1))
  // Sorted once, because the servers are measured and not this service.
  const byCategory = new Map<string, Product[]>(
    categories.map((name) => [
      name,
      products.filter(({ category }) => category === name).sort((a, b) => a.price - b.price),
    ]),
  )
  const get = (id: number): Product | undefined => products[id - 1]
  return {
    get,
    search({ category, minPrice, maxPrice, limit }) {
      const sorted = byCategory.get(category) ?? []
      const from = firstIndex(sorted, ({ price }) => price >= minPrice)
      const to = firstIndex(sorted, ({ price }) => price > maxPrice)
      return { total_found: Math.max(0, to - from), products: sorted.slice(from, Math.min(to, from + limit)) }
    },
    total: (items) =>
      items.reduce((sum, { product_id, quantity }) => sum + (get(product_id)?.price ?? 0) * quantity, 0),
  }
}

/** Binary search: returns the first index at which `holds` is true. */
function firstIndex(sorted: readonly Product[], holds: (product: Product) => boolean): number {
  let [low, high] = [0, sorted.length]
  while (low < high) {
    const middle = (low + high) >> 1
    const product = sorted[middle]
    if (product && holds(product)) high = middle
    else low = middle + 1
  }
  return low
}
