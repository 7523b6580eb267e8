/** The theme: dark, light, or the system's. The choice is stored in this browser. */

export type Theme = 'system' | 'light' | 'dark'

const key = 'sluice-theme'

export function currentTheme(): Theme {
  try {
    const stored = localStorage.getItem(key)
    return stored === 'light' || stored === 'dark' ? stored : 'system'
  } catch {
    return 'system'
  }
}

export function applyTheme(theme: Theme = currentTheme()): void {
  document.documentElement.dataset['theme'] = theme
  try {
    localStorage.setItem(key, theme)
  } catch {
    // Without storage the choice lasts until the page is closed.
  }
  dispatchEvent(new Event('themechange'))
}
