/** A second step that reports when it is in the middle of its work. */
export const steps = (rows: number): readonly string[] => [
  'CREATE TABLE old (n INTEGER); INSERT INTO old VALUES (1), (2), (3)',
  `CREATE TABLE new (n INTEGER);
   INSERT INTO new SELECT n FROM old;
   DROP TABLE old;
   INSERT INTO new SELECT say('half') WHERE 0 < ${rows};
   WITH RECURSIVE many(n) AS (SELECT 10 UNION ALL SELECT n + 1 FROM many WHERE n < ${rows}) INSERT INTO new SELECT n FROM many`,
]
