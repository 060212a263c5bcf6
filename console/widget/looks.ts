const usual = '#2563eb'
const maxRadius = 4

/** The relative luminance of a colour, by the definition of WCAG. */
function luminance(color: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(color.slice(at, at + 2), 16) / 255
    return share <= 0.040_45 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  }) as [number, number, number]
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue
}

/** The colour of surfaces, and black or white for texts on it, whichever has more contrast: always 4.5 or more. */
export function colorsOf(color: string | undefined): { accent: string; onAccent: string } {
  const accent = color !== undefined && /^#[\da-f]{6}$/i.test(color) ? color : usual
  return { accent, onAccent: (luminance(accent) + 0.05) ** 2 > 0.0525 ? '#000000' : '#ffffff' }
}

/** The share of the usual roundness of corners, from 0 to 1. A page may give any value. */
export function radiusOf(radius: number | undefined): number {
  return typeof radius === 'number' ? Math.min(maxRadius, Math.max(0, radius)) / maxRadius : 1
}
