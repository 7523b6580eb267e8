/** The lock that a test holds to stop the second step in the middle. */
export const middle = 42

export const stepsOf = (schema: string): readonly string[] => [
  `CREATE TABLE ${schema}.old (n integer); INSERT INTO ${schema}.old VALUES (1), (2), (3)`,
  `CREATE TABLE ${schema}.new (n integer);
   INSERT INTO ${schema}.new SELECT n FROM ${schema}.old;
   SELECT pg_advisory_xact_lock(${middle});
   DROP TABLE ${schema}.old`,
  `INSERT INTO ${schema}.new VALUES (4)`,
]
