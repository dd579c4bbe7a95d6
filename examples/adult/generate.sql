-- Fills a temporary table census with 45,222 made-up people that resemble the complete rows of the Adult census data
-- set: the same columns, the same categories, about the same shares and dependencies between columns. The shares below
-- are rounded, in thousandths, from that data set (Becker & Kohavi 1996, UCI Machine Learning Repository, CC BY 4.0).
-- Each run on each server makes the same rows: chance comes from md5 of the row's number.
CREATE TEMP TABLE census (LIKE adult);

-- How often each value of a column occurs, given what has been chosen before.
CREATE TEMP TABLE share (what text, given text, shares text);
INSERT INTO share VALUES
  ('sex', '', 'Male 675, Female 325'),
  ('education', '17', 'HS-grad 273, 11th 249, Some-college 248, 10th 104, 12th 79, 9th 25, 7th-8th 10, 5th-6th 5, Assoc-voc 2, Preschool 1, 1st-4th 1, Assoc-acdm 1'),
  ('education', '20', 'Some-college 377, HS-grad 321, Bachelors 131, Assoc-voc 35, Assoc-acdm 31, 11th 31, 10th 20, 12th 14, 9th 13, 5th-6th 9, 7th-8th 9, Masters 6, 1st-4th 2, Preschool 2'),
  ('education', '25', 'HS-grad 330, Some-college 198, Bachelors 187, Masters 66, Assoc-voc 48, Assoc-acdm 37, 11th 25, 10th 22, Prof-school 20, 7th-8th 15, 9th 14, Doctorate 14, 5th-6th 9, 12th 9, 1st-4th 5, Preschool 1'),
  ('education', '60', 'HS-grad 338, Some-college 165, Bachelors 125, 7th-8th 72, Masters 58, 10th 43, Assoc-voc 31, 11th 29, Prof-school 28, 9th 26, Doctorate 22, 5th-6th 20, Assoc-acdm 16, 1st-4th 11, 12th 11, Preschool 3'),
  ('marital_status', 'Female 1', 'Never-married 967, Married-civ-spouse 12, Divorced 8, Married-spouse-absent 5, Separated 5, Married-AF-spouse 3'),
  ('marital_status', 'Female 2', 'Never-married 772, Married-civ-spouse 100, Divorced 77, Separated 31, Married-spouse-absent 16, Widowed 2, Married-AF-spouse 1'),
  ('marital_status', 'Female 3', 'Never-married 376, Divorced 303, Married-civ-spouse 204, Separated 77, Married-spouse-absent 21, Widowed 16, Married-AF-spouse 3'),
  ('marital_status', 'Female 4', 'Divorced 439, Married-civ-spouse 197, Never-married 194, Separated 93, Widowed 54, Married-spouse-absent 22'),
  ('marital_status', 'Female 5', 'Divorced 424, Married-civ-spouse 188, Widowed 177, Never-married 116, Separated 71, Married-spouse-absent 24, Married-AF-spouse 1'),
  ('marital_status', 'Female 6', 'Widowed 435, Divorced 303, Married-civ-spouse 119, Never-married 89, Separated 38, Married-spouse-absent 16'),
  ('marital_status', 'Female 7', 'Widowed 634, Divorced 190, Never-married 93, Married-civ-spouse 73, Married-spouse-absent 5, Separated 5'),
  ('marital_status', 'Female 8', 'Widowed 512, Never-married 233, Divorced 116, Married-civ-spouse 70, Married-spouse-absent 47, Separated 23'),
  ('marital_status', 'Male 1', 'Never-married 978, Married-civ-spouse 17, Married-spouse-absent 3, Divorced 1, Separated 1'),
  ('marital_status', 'Male 2', 'Never-married 636, Married-civ-spouse 310, Divorced 32, Separated 15, Married-spouse-absent 6, Married-AF-spouse 1, Widowed 1'),
  ('marital_status', 'Male 3', 'Married-civ-spouse 661, Never-married 210, Divorced 93, Separated 25, Married-spouse-absent 9, Widowed 1'),
  ('marital_status', 'Male 4', 'Married-civ-spouse 752, Divorced 123, Never-married 88, Separated 20, Married-spouse-absent 12, Widowed 4'),
  ('marital_status', 'Male 5', 'Married-civ-spouse 810, Divorced 101, Never-married 50, Separated 15, Widowed 15, Married-spouse-absent 9'),
  ('marital_status', 'Male 6', 'Married-civ-spouse 842, Divorced 70, Widowed 37, Never-married 33, Separated 10, Married-spouse-absent 9'),
  ('marital_status', 'Male 7', 'Married-civ-spouse 792, Widowed 112, Never-married 42, Divorced 34, Married-spouse-absent 16, Separated 5'),
  ('marital_status', 'Male 8', 'Married-civ-spouse 620, Widowed 170, Never-married 160, Divorced 30, Married-spouse-absent 20'),
  ('relationship', 'Female Divorced', 'Unmarried 474, Not-in-family 446, Own-child 52, Other-relative 27'),
  ('relationship', 'Female Married-AF-spouse', 'Wife 905, Own-child 48, Other-relative 48'),
  ('relationship', 'Female Married-civ-spouse', 'Wife 936, Other-relative 36, Own-child 26, Not-in-family 2'),
  ('relationship', 'Female Married-spouse-absent', 'Unmarried 438, Not-in-family 369, Own-child 135, Other-relative 58'),
  ('relationship', 'Female Never-married', 'Not-in-family 438, Own-child 392, Unmarried 122, Other-relative 48'),
  ('relationship', 'Female Separated', 'Unmarried 604, Not-in-family 262, Own-child 79, Other-relative 55'),
  ('relationship', 'Female Widowed', 'Not-in-family 527, Unmarried 414, Other-relative 46, Own-child 14'),
  ('relationship', 'Male Divorced', 'Not-in-family 695, Unmarried 188, Own-child 92, Other-relative 25'),
  ('relationship', 'Male Married-AF-spouse', 'Husband 1000'),
  ('relationship', 'Male Married-civ-spouse', 'Husband 990, Other-relative 6, Own-child 4, Not-in-family 1'),
  ('relationship', 'Male Married-spouse-absent', 'Not-in-family 651, Unmarried 176, Other-relative 101, Own-child 72'),
  ('relationship', 'Male Never-married', 'Not-in-family 475, Own-child 409, Other-relative 63, Unmarried 53'),
  ('relationship', 'Male Separated', 'Not-in-family 653, Unmarried 184, Own-child 113, Other-relative 50'),
  ('relationship', 'Male Widowed', 'Not-in-family 588, Unmarried 342, Other-relative 46, Own-child 25'),
  ('occupation', 'Female bachelor', 'Prof-specialty 364, Exec-managerial 210, Adm-clerical 176, Sales 115, Tech-support 49, Other-service 49, Protective-serv 10, Craft-repair 8, Machine-op-inspct 7, Priv-house-serv 4, Farming-fishing 3, Handlers-cleaners 3, Transport-moving 2'),
  ('occupation', 'Female basic', 'Other-service 375, Sales 179, Machine-op-inspct 140, Adm-clerical 98, Priv-house-serv 56, Handlers-cleaners 34, Exec-managerial 28, Craft-repair 25, Prof-specialty 21, Farming-fishing 15, Transport-moving 12, Protective-serv 9, Tech-support 9'),
  ('occupation', 'Female college', 'Adm-clerical 335, Other-service 159, Sales 137, Exec-managerial 121, Prof-specialty 99, Tech-support 61, Machine-op-inspct 29, Craft-repair 18, Handlers-cleaners 10, Protective-serv 10, Farming-fishing 7, Transport-moving 6, Priv-house-serv 6'),
  ('occupation', 'Female higher', 'Prof-specialty 666, Exec-managerial 194, Adm-clerical 48, Sales 43, Other-service 23, Tech-support 14, Craft-repair 4, Machine-op-inspct 4, Protective-serv 1, Priv-house-serv 1, Farming-fishing 1'),
  ('occupation', 'Female school', 'Adm-clerical 308, Other-service 232, Sales 134, Machine-op-inspct 84, Exec-managerial 82, Craft-repair 34, Handlers-cleaners 30, Prof-specialty 29, Tech-support 23, Priv-house-serv 18, Transport-moving 15, Protective-serv 7, Farming-fishing 5'),
  ('occupation', 'Male bachelor', 'Exec-managerial 284, Prof-specialty 254, Sales 186, Adm-clerical 65, Craft-repair 58, Tech-support 42, Other-service 25, Protective-serv 23, Farming-fishing 20, Transport-moving 15, Handlers-cleaners 13, Machine-op-inspct 13'),
  ('occupation', 'Male basic', 'Craft-repair 240, Other-service 147, Handlers-cleaners 127, Transport-moving 124, Machine-op-inspct 123, Farming-fishing 99, Sales 55, Exec-managerial 31, Adm-clerical 25, Protective-serv 12, Prof-specialty 12, Tech-support 3, Priv-house-serv 2'),
  ('occupation', 'Male college', 'Craft-repair 200, Sales 139, Exec-managerial 136, Adm-clerical 85, Other-service 75, Prof-specialty 70, Machine-op-inspct 58, Transport-moving 55, Handlers-cleaners 50, Tech-support 49, Protective-serv 44, Farming-fishing 39'),
  ('occupation', 'Male higher', 'Prof-specialty 586, Exec-managerial 252, Sales 69, Adm-clerical 24, Tech-support 21, Craft-repair 15, Protective-serv 7, Farming-fishing 7, Transport-moving 6, Other-service 6, Machine-op-inspct 3, Handlers-cleaners 2, Armed-Forces 1'),
  ('occupation', 'Male school', 'Craft-repair 269, Transport-moving 113, Machine-op-inspct 111, Sales 92, Other-service 80, Exec-managerial 79, Handlers-cleaners 79, Adm-clerical 58, Farming-fishing 54, Protective-serv 29, Prof-specialty 20, Tech-support 16'),
  ('workclass', 'Adm-clerical', 'Private 749, Federal-gov 88, Local-gov 75, State-gov 67, Self-emp-not-inc 12, Self-emp-inc 8, Without-pay 1'),
  ('workclass', 'Armed-Forces', 'Federal-gov 1000'),
  ('workclass', 'Craft-repair', 'Private 778, Self-emp-not-inc 131, Local-gov 35, Self-emp-inc 26, State-gov 15, Federal-gov 15'),
  ('workclass', 'Exec-managerial', 'Private 657, Self-emp-inc 100, Self-emp-not-inc 96, Local-gov 55, State-gov 47, Federal-gov 44'),
  ('workclass', 'Farming-fishing', 'Private 448, Self-emp-not-inc 440, Self-emp-inc 55, Local-gov 29, State-gov 16, Federal-gov 6, Without-pay 5'),
  ('workclass', 'Handlers-cleaners', 'Private 928, Local-gov 31, Federal-gov 17, Self-emp-not-inc 10, State-gov 9, Self-emp-inc 3, Without-pay 1'),
  ('workclass', 'Machine-op-inspct', 'Private 955, Self-emp-not-inc 20, Local-gov 7, State-gov 6, Federal-gov 6, Self-emp-inc 5, Without-pay 1'),
  ('workclass', 'Other-service', 'Private 822, Local-gov 61, Self-emp-not-inc 57, State-gov 40, Federal-gov 11, Self-emp-inc 9'),
  ('workclass', 'Priv-house-serv', 'Private 1000'),
  ('workclass', 'Prof-specialty', 'Private 551, Local-gov 174, State-gov 102, Self-emp-not-inc 94, Self-emp-inc 40, Federal-gov 40'),
  ('workclass', 'Protective-serv', 'Local-gov 460, Private 301, State-gov 179, Federal-gov 47, Self-emp-not-inc 7, Self-emp-inc 5'),
  ('workclass', 'Sales', 'Private 809, Self-emp-not-inc 106, Self-emp-inc 75, State-gov 4, Federal-gov 3, Local-gov 3'),
  ('workclass', 'Tech-support', 'Private 797, Federal-gov 66, State-gov 60, Local-gov 41, Self-emp-not-inc 30, Self-emp-inc 6'),
  ('workclass', 'Transport-moving', 'Private 798, Self-emp-not-inc 77, Local-gov 67, State-gov 25, Self-emp-inc 16, Federal-gov 16'),
  ('race', 'Female', 'White 809, Black 142, Asian-Pac-Islander 30, Amer-Indian-Eskimo 11, Other 9'),
  ('race', 'Male', 'White 885, Black 70, Asian-Pac-Islander 28, Amer-Indian-Eskimo 9, Other 7'),
  ('native_country', 'Amer-Indian-Eskimo', 'United-States 959, Mexico 25, South 5, Germany 2, Puerto-Rico 2, Columbia 2, Philippines 2, Hong 2'),
  ('native_country', 'Asian-Pac-Islander', 'United-States 305, Philippines 205, India 93, China 84, South 75, Vietnam 62, Taiwan 40, Japan 40, Thailand 18, Cambodia 18, Hong 18, Laos 16, Iran 7, Trinadad&Tobago 3, Germany 2, Outlying-US(Guam-USVI-etc) 2, England 2, Poland 1, Puerto-Rico 1, Canada 1, Portugal 1, Mexico 1, Greece 1, Haiti 1, Dominican-Republic 1, Ireland 1, France 1, Nicaragua 1, Guatemala 1'),
  ('native_country', 'Black', 'United-States 937, Jamaica 22, Haiti 16, Trinadad&Tobago 5, Dominican-Republic 4, Puerto-Rico 3, Germany 2, Outlying-US(Guam-USVI-etc) 2, England 2, Mexico 1, Cuba 1, Japan 1, Honduras 1, Nicaragua 1'),
  ('native_country', 'Other', 'United-States 476, Mexico 173, Puerto-Rico 79, Dominican-Republic 59, Ecuador 34, India 25, Guatemala 23, Columbia 23, El-Salvador 23, Iran 17, Nicaragua 11, Peru 11, Jamaica 8, Cuba 8, Canada 6, Japan 6, Germany 3, Trinadad&Tobago 3, England 3, Portugal 3, Honduras 3, France 3'),
  ('native_country', 'White', 'United-States 934, Mexico 21, Germany 5, Canada 4, El-Salvador 4, Puerto-Rico 3, Cuba 3, England 3, Italy 3, Poland 2, Guatemala 2, Columbia 2, Portugal 2, Dominican-Republic 1, Greece 1, Iran 1, Peru 1, Nicaragua 1, Ireland 1, France 1, Japan 1, Ecuador 1, Yugoslavia 1'),
  ('hours_per_week', 'Female middle', '40 521, 21-34 94, 41-49 82, 36-39 58, 35 58, 50 56, 1-19 36, 20 28, 60 25, 51-59 23, 61-99 20'),
  ('hours_per_week', 'Female old', '40 303, 1-19 216, 21-34 165, 20 113, 35 60, 36-39 47, 41-49 32, 50 25, 61-99 21, 60 11, 51-59 6'),
  ('hours_per_week', 'Female young', '40 323, 21-34 205, 1-19 170, 20 137, 35 64, 41-49 30, 36-39 30, 50 19, 60 9, 51-59 7, 61-99 5'),
  ('hours_per_week', 'Male middle', '40 493, 41-49 127, 50 124, 60 66, 61-99 49, 51-59 46, 21-34 32, 35 25, 36-39 18, 20 10, 1-19 10'),
  ('hours_per_week', 'Male old', '40 360, 1-19 143, 21-34 123, 20 84, 50 72, 41-49 68, 35 48, 61-99 37, 60 33, 51-59 21, 36-39 11'),
  ('hours_per_week', 'Male young', '40 418, 21-34 154, 1-19 100, 20 91, 41-49 57, 35 54, 50 52, 60 21, 51-59 20, 36-39 19, 61-99 15'),
  ('capital_gain', '>50K', '0 788, 15024 60, 7688 47, 7298 42, 99999 27, 3103 16, 5178 12, 4386 8'),
  ('capital_gain', '<=50K', '0 958, 5013 9, 3325 7, 2174 6, 4650 5, 4064 4, 3137 4, 594 4, 6849 3'),
  ('capital_loss', '>50K', '0 875, 1902 39, 1977 34, 1887 32, 2415 10, 1848 10'),
  ('capital_loss', '<=50K', '0 968, 1876 6, 1590 6, 1740 5, 1672 5, 1741 4, 1602 3, 1980 3');

-- The values of a column in order, and the cumulated share up to and including each.
CREATE TEMP TABLE choice AS
  SELECT what, given, array_agg(value ORDER BY n) AS values,
         array_agg(upto / total ORDER BY n) AS upto
  FROM (SELECT what, given, n, m[1] AS value,
               sum(m[2]::float8) OVER (PARTITION BY what, given ORDER BY n) AS upto,
               sum(m[2]::float8) OVER (PARTITION BY what, given) AS total
        FROM share, regexp_matches(shares, '([^ ,]+) (\d+)', 'g') WITH ORDINALITY AS r (m, n)) s
  GROUP BY what, given;
CREATE UNIQUE INDEX ON choice (what, given);
ANALYZE choice;

-- A number in [0,1) for row i, another one for each purpose.
CREATE FUNCTION pg_temp.chance(i int, purpose text) RETURNS float8 IMMUTABLE LANGUAGE sql AS
  $$ SELECT ('x' || left(md5(i::text || ' ' || purpose), 8))::bit(32)::bigint / 4294967296.0::float8 $$;

INSERT INTO census
WITH start AS MATERIALIZED (
  SELECT i, pg_temp.chance(i, 'age') * 20 AS a,
         -- the 5% quantiles of age
         '{17,20,22,24,26,28,30,32,34,35,37,39,41,43,45,47,50,53,57,62,91}'::int[] AS q
  FROM generate_series(1, 45222) i
), aged AS MATERIALIZED (
  SELECT i, floor(q[k] + (q[k + 1] - q[k]) * power(a - (k - 1), CASE WHEN k = 20 THEN 2.5 ELSE 1 END))::int AS age
  FROM start, floor(a + 1) f, CAST(f AS int) k
), sexed AS MATERIALIZED (
  SELECT p.*, values[1 + width_bucket(pg_temp.chance(i, 'sex'), upto)] AS sex
  FROM aged p JOIN choice ON what = 'sex'
), schooled AS MATERIALIZED (
  SELECT p.*, values[1 + width_bucket(pg_temp.chance(i, 'education'), upto)] AS education
  FROM sexed p JOIN choice ON what = 'education'
    AND given = CASE WHEN age < 20 THEN '17' WHEN age < 25 THEN '20' WHEN age < 60 THEN '25' ELSE '60' END
), numbered AS MATERIALIZED (
  SELECT *, array_position('{Preschool,1st-4th,5th-6th,7th-8th,9th,10th,11th,12th,HS-grad,Some-college,
    Assoc-voc,Assoc-acdm,Bachelors,Masters,Prof-school,Doctorate}'::text[], education) AS education_num
  FROM schooled
), married AS MATERIALIZED (
  SELECT p.*, values[1 + width_bucket(pg_temp.chance(i, 'marital_status'), upto)] AS marital_status
  FROM numbered p JOIN choice ON what = 'marital_status' AND given = sex || ' ' || least(age / 10, 8)
), related AS MATERIALIZED (
  SELECT p.*, values[1 + width_bucket(pg_temp.chance(i, 'relationship'), upto)] AS relationship
  FROM married p JOIN choice ON what = 'relationship' AND given = sex || ' ' || marital_status
), occupied AS MATERIALIZED (
  SELECT p.*, values[1 + width_bucket(pg_temp.chance(i, 'occupation'), upto)] AS occupation
  FROM related p JOIN choice ON what = 'occupation'
    AND given = sex || ' ' || CASE WHEN education_num < 9 THEN 'basic' WHEN education_num = 9 THEN 'school'
      WHEN education_num < 13 THEN 'college' WHEN education_num = 13 THEN 'bachelor' ELSE 'higher' END
), employed AS MATERIALIZED (
  SELECT p.*, values[1 + width_bucket(pg_temp.chance(i, 'workclass'), upto)] AS workclass
  FROM occupied p JOIN choice ON what = 'workclass' AND given = occupation
), raced AS MATERIALIZED (
  SELECT p.*, values[1 + width_bucket(pg_temp.chance(i, 'race'), upto)] AS race
  FROM employed p JOIN choice ON what = 'race' AND given = sex
), born AS MATERIALIZED (
  SELECT p.*, values[1 + width_bucket(pg_temp.chance(i, 'native_country'), upto)] AS native_country
  FROM raced p JOIN choice ON what = 'native_country' AND given = race
), working AS MATERIALIZED (
  SELECT p.*, string_to_array(values[1 + width_bucket(pg_temp.chance(i, 'hours_per_week'), upto)], '-')::int[] AS hours
  FROM born p JOIN choice ON what = 'hours_per_week'
    AND given = sex || ' ' || CASE WHEN age < 25 THEN 'young' WHEN age < 62 THEN 'middle' ELSE 'old' END
), worked AS MATERIALIZED (
  SELECT *, hours[1] + floor(pg_temp.chance(i, 'hours') * (coalesce(hours[2], hours[1]) - hours[1] + 1))::int AS hours_per_week
  FROM working
), scored AS MATERIALIZED (
  -- a logistic regression on the census, made a little steeper in education
  SELECT *, -2.66 + 0.33 * (education_num - 10) + 0.0517 * (age - 40) - 0.0024 * (age - 40) ^ 2
    + CASE WHEN sex = 'Male' THEN 0.148 ELSE 0 END
    + CASE WHEN marital_status IN ('Married-civ-spouse', 'Married-AF-spouse') THEN 2.212 ELSE 0 END
    + 0.0354 * (least(greatest(hours_per_week, 20), 60) - 40)
    + CASE WHEN occupation IN ('Exec-managerial', 'Prof-specialty', 'Tech-support', 'Protective-serv') THEN 0.642
           WHEN occupation IN ('Other-service', 'Handlers-cleaners', 'Farming-fishing', 'Priv-house-serv',
                               'Machine-op-inspct') THEN -0.642 ELSE 0 END
    + CASE WHEN workclass = 'Self-emp-inc' THEN 0.429 ELSE 0 END AS score
  FROM worked
), paid AS MATERIALIZED (
  SELECT *, CASE WHEN pg_temp.chance(i, 'income') < 1 / (1 + exp(-score::float8)) THEN '>50K' ELSE '<=50K' END AS income
  FROM scored
), gained AS MATERIALIZED (
  SELECT p.*, values[1 + width_bucket(pg_temp.chance(i, 'capital_gain'), upto)]::int AS capital_gain
  FROM paid p JOIN choice ON what = 'capital_gain' AND given = income
), lost AS MATERIALIZED (
  SELECT p.*, CASE WHEN capital_gain > 0 THEN 0
                   ELSE values[1 + width_bucket(pg_temp.chance(i, 'capital_loss'), upto)]::int END AS capital_loss
  FROM gained p JOIN choice ON what = 'capital_loss' AND given = income
), weighed AS MATERIALIZED (
  -- log-normal, by the method of Box and Muller
  SELECT *, least(greatest(round(exp(12.018 + 0.52 * sqrt(-2 * ln(1 - pg_temp.chance(i, 'weight')))
    * cos(2 * pi() * pg_temp.chance(i, 'angle')))), 13492), 1490400)::int AS fnlwgt
  FROM lost
)
SELECT age, workclass, fnlwgt, education, education_num, marital_status, occupation, relationship, race, sex,
       capital_gain, capital_loss, hours_per_week, native_country, income
FROM weighed;

DROP TABLE share, choice;
DROP FUNCTION pg_temp.chance;
