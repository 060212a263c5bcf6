import type { JSX } from 'preact'

/** Tags as `key: value`. @param limit of those that are shown; the others are counted */
export function Tags({ tags, limit = Infinity }: { tags: Record<string, string>; limit?: number }): JSX.Element | null {
  const all = Object.entries(tags)
  if (all.length === 0) return null
  return (
    <span class="tag-list">
      {all.slice(0, limit).map(([key, value]) => (
        <span key={key} class="tag" title={`${key}: ${value}`}>
          <bdi>{key}</bdi>: <bdi>{value}</bdi>
        </span>
      ))}
      {all.length > limit && <span>{all.length - limit} more</span>}
    </span>
  )
}
