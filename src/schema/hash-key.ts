/**
 * What stands in a Set or a Map for a text that somebody outside chose. V8 takes the number as the hash of a text that is
 * an array index, and keeps each text that it is asked for in one table, so such texts can be chosen that all fall
 * together: to ask a Map for 50,000 of them, 750 KB, took workerd more than 5 s, even one that has two keys. Behind
 * another character they are hashed as any text is, with a seed of the isolate: 0.3 s.
 */
export function hashKey(text: string): string {
  return `.${text}`;
}
