/** Converts optional settings to the options of the library, which must not contain `undefined`. */

type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

export const omitUndefined = <T extends object>(options: T): Defined<T> =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Defined<T>

/** Converts a bucket of the configuration, whose key is `capacity`, to one of the library. */
export const toBucket = (bucket: {
  readonly capacity: number
  readonly perSecond: number
}): { readonly burst: number; readonly perSecond: number } => ({ burst: bucket.capacity, perSecond: bucket.perSecond })

/** Converts the buckets of single tools, by name. */
export const toBuckets = (buckets: {
  readonly [tool: string]: Parameters<typeof toBucket>[0]
}): { readonly [tool: string]: ReturnType<typeof toBucket> } =>
  Object.fromEntries(Object.entries(buckets).map(([tool, bucket]) => [tool, toBucket(bucket)]))
