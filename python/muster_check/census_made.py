"""People who never lived: a census table made on the spot, whose incomes depend on its other columns."""

import numpy as np

SEED = 1994
N_PEOPLE = 8000

EDUCATIONS = {"HS-grad": 9, "Some-college": 10, "Bachelors": 13, "Masters": 14, "11th": 7, "Assoc-voc": 11,
              "Doctorate": 16}
EDUCATION_SHARES = (0.34, 0.24, 0.18, 0.07, 0.09, 0.06, 0.02)
OCCUPATIONS = {"Exec-managerial": 1.0, "Prof-specialty": 0.8, "Craft-repair": 0.0, "Adm-clerical": -0.2, "Sales": 0.2,
               "Other-service": -1.2, "Machine-op-inspct": -0.5, "?": -0.9}
WORKCLASSES = {"Private": 0.0, "Self-emp-inc": 0.8, "Local-gov": 0.1, "?": -0.6}
COUNTRIES = ("United-States", "Mexico", "Philippines", "Germany", "?")
COUNTRY_SHARES = (0.9, 0.03, 0.03, 0.02, 0.02)


def make():
    """A list of rows, as census_file reads them."""
    random = np.random.default_rng(SEED)
    return [person(random) for _ in range(N_PEOPLE)]


def person(random):
    education = str(random.choice(list(EDUCATIONS), p=EDUCATION_SHARES))
    occupation, workclass = str(random.choice(list(OCCUPATIONS))), str(random.choice(list(WORKCLASSES)))
    age = int(np.clip(random.gamma(6, 6.5), 17, 90))
    is_married = random.random() < min(0.75, (age - 17) / 25)
    sex = "Male" if random.random() < 0.67 else "Female"
    hours = int(np.clip(random.normal(40, 11), 1, 99))
    # Learning pays, more so for managers, and most in the middle of life.
    taste = (0.45 * (EDUCATIONS[education] - 10) + 1.3 * OCCUPATIONS[occupation] + WORKCLASSES[workclass]
             + 2.2 * is_married + 0.05 * (hours - 40) - ((age - 48) / 16) ** 2
             + 0.8 * (education == "Masters" and occupation == "Exec-managerial"))
    is_rich = random.random() < 1 / (1 + np.exp(2.6 - taste))
    return {
        "age": age, "workclass": workclass, "education": education, "education years": EDUCATIONS[education],
        "marital status": "Married-civ-spouse" if is_married else "Never-married", "occupation": occupation,
        "relationship": ("Husband" if sex == "Male" else "Wife") if is_married else "Not-in-family",
        "race": "?", "sex": sex, "country": str(random.choice(COUNTRIES, p=COUNTRY_SHARES)), "hours a week": hours,
        "capital gain": int(random.gamma(2, 4000)) if is_rich and random.random() < 0.2 else 0,
        "capital loss": int(random.normal(1900, 200)) if random.random() < (0.1 if is_rich else 0.03) else 0,
        "income": int(is_rich),
    }
