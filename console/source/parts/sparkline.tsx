import type { JSX } from 'preact'

const width = 4
const height = 28

/** A small chart of a series, from its first value to its last. Screen readers read its label. */
export function Sparkline({ values, label }: { values: number[]; label: string }): JSX.Element {
  const highest = Math.max(4, ...values)
  const bars = values.map((value, index) => {
    const top = value === 0 ? height - 1 : height - Math.max(3, (value / highest) * height)
    return { path: `M${index * width},${height}V${top.toFixed(1)}h${width - 1}V${height}z`, isZero: value === 0 }
  })
  const draw = (isZero: boolean) => bars.filter((bar) => bar.isZero === isZero).map(({ path }) => path)
  const viewBox = `0 0 ${values.length * width} ${height}`
  return (
    <svg class="sparkline" viewBox={viewBox} preserveAspectRatio="none" role="img" aria-label={label}>
      <path class="zero" d={draw(true).join('')} />
      <path d={draw(false).join('')} />
    </svg>
  )
}
