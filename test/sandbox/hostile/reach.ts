/**
 * A function for hostile code, as its source: `reach(roots, visit)` calls `visit(object, path)` for every object and
 * function that can be got at from the named roots, by properties, getters and prototypes, and gives back how many
 * there are.
 */
export const reach = `
  const reach = (roots, visit) => {
    const seen = new Set()
    const waiting = Object.entries(roots)
    const add = (path, value) => waiting.push([path, value])
    for (const [path, value] of waiting) {
      if (value === null || (typeof value !== 'object' && typeof value !== 'function') || seen.has(value)) continue
      seen.add(value)
      visit(value, path)
      add(path + '.__proto__', Object.getPrototypeOf(value))
      for (const key of Reflect.ownKeys(value)) {
        const name = path + '.' + String(key)
        const { get, set } = Object.getOwnPropertyDescriptor(value, key)
        add(name + ' (get)', get)
        add(name + ' (set)', set)
        try { add(name, value[key]) } catch {}
      }
    }
    return seen.size
  }`
