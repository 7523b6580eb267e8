/** Converts optional settings to the options of the library, which must not contain `undefined`. */

type Defined<T> = { [K in keyof T as undefined extends T[K] ? never : K]: T[K] } & {
  [K in keyof T as undefined extends T[K] ? K : never]?: Exclude<T[K], undefined>
}

export const omitUndefined = <T extends object>(options: T): Defined<T> =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Defined<T>
