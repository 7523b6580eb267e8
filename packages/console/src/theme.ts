/** Dark, light, or as the system has it: the person's choice, kept in this browser. */

export type Theme = 'system' | 'light' | 'dark'

const key = 'sluice-theme'

export function currentTheme(): Theme {
  try {
    const kept = localStorage.getItem(key)
    return kept === 'light' || kept === 'dark' ? kept : 'system'
  } catch {
    return 'system'
  }
}

export function applyTheme(theme: Theme = currentTheme()): void {
  document.documentElement.dataset['theme'] = theme
  try {
    localStorage.setItem(key, theme)
  } catch {
    // A browser that keeps nothing shows the choice until the page is closed.
  }
  dispatchEvent(new Event('themechange'))
}
