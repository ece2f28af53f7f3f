"""The dial: searches and learners with ever more broken reward, as a table and a picture."""
