/** Says where the routes of a provider are, and how good they are. A model must know it before it calls. */

import type { Provider } from './route.ts'

const texts: { readonly [name in Provider['name']]: string } = {
  offline:
    'Works offline: the main roads and ferries of Vietnam only. Elsewhere it knows no roads and gives a rough estimate from town to town over land.',
  osrm: 'Routes come from an OSRM server; place names are towns only, no streets.',
  tomtom: 'Routes, places and traffic come from TomTom.',
}

export const coverageOf = ({ name }: Pick<Provider, 'name'>): string => texts[name]
