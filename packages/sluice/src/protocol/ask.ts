/** The questions a definition can ask, as the namespace `ask`: `ask.form(…)`, `ask.link(…)`. */

export { canAsk as isSupported, form, optional, roots, sample, url as link, visit as page } from './questions.ts'
