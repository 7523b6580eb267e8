/** The same type, whose members can be set. For the owner of a state that others only read. */
export type Mutable<T> = { -readonly [K in keyof T]: T[K] }
